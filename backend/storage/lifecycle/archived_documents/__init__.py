"""What the documents of an archive must be, so that the service can store each as a new one."""
