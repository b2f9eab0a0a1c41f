"""What organizations make, list, change and delete by themselves: its documents follow from the resource."""
