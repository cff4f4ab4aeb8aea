// Start with the data of the page.

app = new App(new Viewer(parsed(byId("data").textContent)));
