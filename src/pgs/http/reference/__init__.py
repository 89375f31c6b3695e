"""The reference of the interface, made from the endpoint table and the error catalogue."""
