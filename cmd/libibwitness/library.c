#include "../../attach/c/ibwitness.c"
