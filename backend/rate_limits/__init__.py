"""Rate limits by key and by address: counted exactly in the database, or in memory and shared now
and then.
"""
