"""What an agent may do with memory by itself."""
