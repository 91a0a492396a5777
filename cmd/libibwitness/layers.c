#include "../../attach/c/hdl.c"
#include "../../attach/c/dpi.c"
#include "../../attach/c/vhpidirect.c"
