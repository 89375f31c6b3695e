"""Invoices: how they are made from the totals of final days, and how operators change them."""
