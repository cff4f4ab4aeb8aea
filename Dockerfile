# mcp-sim over HTTP: docker build -t mcp-sim . && docker run --rm -p 8000:8000 mcp-sim
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY mcp_sim mcp_sim
COPY tool_specs tool_specs
COPY scenarios scenarios
COPY presets presets
RUN python -m venv /opt/mcp-sim && /opt/mcp-sim/bin/pip install --no-cache-dir '.[terminal]'

FROM python:3.12-slim
COPY --from=build /opt/mcp-sim /opt/mcp-sim
ENV PATH=/opt/mcp-sim/bin:$PATH
RUN useradd --system mcp-sim
USER mcp-sim
WORKDIR /scenarios
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["mcp-sim", "serve", "--http", "0.0.0.0:8000"]
CMD ["flaky_crm"]
