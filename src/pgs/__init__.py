"""The Partner Game Service: staked games between players, embedded in partners' sites."""
