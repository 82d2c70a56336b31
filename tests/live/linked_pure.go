package main

func callC() {}
