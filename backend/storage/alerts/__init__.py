"""Alert rules and alerts in the database, and what rules look at."""
