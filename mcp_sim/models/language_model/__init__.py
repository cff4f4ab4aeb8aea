"""World models that ask a language model: prompts, the endpoint, and how replies are checked and absorbed."""
