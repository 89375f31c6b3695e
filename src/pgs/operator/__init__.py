"""The operator's side: the commands that run the service and look after its data."""
