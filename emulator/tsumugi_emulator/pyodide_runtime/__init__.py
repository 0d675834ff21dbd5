"""The Worker's Python in real Pyodide: a Node process behind the child (ADR-0210)."""
