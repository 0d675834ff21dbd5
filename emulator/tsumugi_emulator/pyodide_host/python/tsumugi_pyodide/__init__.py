"""The Python half of the Pyodide runtime: runs inside Pyodide, beside the Worker."""
