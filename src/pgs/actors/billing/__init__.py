"""Invoices: their assembly from the totals of final days, and what operators do with them."""
