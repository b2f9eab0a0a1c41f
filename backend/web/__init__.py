"""What the interfaces share about HTTP: the current request, hosts, proxies, files and streams."""
