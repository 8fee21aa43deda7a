package main

func gemmARM64() string { return newAsm().String() }
func rowsARM64() string { return newAsm().String() }
