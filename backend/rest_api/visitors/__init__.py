"""What is known of customers' devices."""
