// A pairwise all-to-all for SimGrid's SMPI: round k sends k places up and receives from k places
// below, one round after the other. The argument is the bytes of a block; without one, nothing is
// exchanged, and what such a run takes is SMPI's start. Rank 0 prints the virtual time of its end.

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, bytes = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (bytes > 0) {
    char* out = calloc(bytes, 1);
    char* in = calloc(bytes, 1);
    for (int far = 1; far < size; far++)
      MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + far) % size, 0, in, bytes, MPI_CHAR,
                   (rank - far + size) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(out);
    free(in);
  }
  if (rank == 0)
    printf("%.12f\n", MPI_Wtime());
  MPI_Finalize();
  return 0;
}
