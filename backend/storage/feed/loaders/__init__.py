"""What the events of a feed hold, loaded by type from the documents that their facts name."""
