"""What window and engine say to each other: versioned dataclasses and their JSON. Imports `sessions` only."""
