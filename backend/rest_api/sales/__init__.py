"""Sales, leads, events and refunds that servers tell, and the explanation of a sale's credit."""
