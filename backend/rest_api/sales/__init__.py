"""What servers tell of sales, leads and refunds, and why a sale is whose."""
