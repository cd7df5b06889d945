"""What keys do: one function a row of the key table, in the module of the row's scope."""
