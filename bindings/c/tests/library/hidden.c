// An MPI that is loaded for one part of a program alone, as an interpreter does it, is found all
// the same: hidden LIBRARY HANDLE, with the Fortran handle of its MPI_COMM_WORLD.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int laneway_time_round_trips(int, int, int, int, int, double, int, double *, int *, double *);
const char *laneway_last_error(void);

int main(int argc, char **argv) {
  double T, a;
  int reps;
  if (argc != 3) return 2;
  int world = (int)strtol(argv[2], NULL, 0);
  int early = laneway_time_round_trips(world, 1, 1, 2, 2, 0.1, 0, &T, &reps, &a);
  printf("before: %d %s\n", early, laneway_last_error());
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(library, "MPI_Init");
  int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
  if (!init || !finalize || init(NULL, NULL) != 0) return 1;
  int code = laneway_time_round_trips(world, 1, 1, 2, 2, 0.1, 0, &T, &reps, &a);
  printf("after: %d %s\n", code, laneway_last_error());
  return finalize() || code;
}
