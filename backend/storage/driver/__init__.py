"""The MongoDB driver: connections, threads that wait, deadlines and transactions."""
