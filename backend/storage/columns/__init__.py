"""An organization's facts in columns: the process of a host that makes them from MongoDB and its feed."""
