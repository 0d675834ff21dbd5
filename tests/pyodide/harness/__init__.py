"""What runs on both sides: inside real Pyodide, and over the emulated boundary."""
