// The MPIBlib paper's example (section 4): measures several scatters once, then takes the fastest
// of them for each message. Build it with the compiler of any MPI:
//
//   mpicc opt_scatter.c -o opt_scatter $(pkg-config --cflags --libs laneway)
//   mpirun -n 4 ./opt_scatter

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laneway.h>

enum { IMPLEMENTATIONS = 3, SIZES = 4 };

static const char *const implementations[IMPLEMENTATIONS] = {"linear", "binomial", "native"};
static const int M[SIZES] = {1, 1024, 16 * 1024, 128 * 1024};
static double T[IMPLEMENTATIONS][SIZES];

// At the beginning of the program. Figures that are less precise than asked will do here, but root
// timing may find no time at all for very short messages: such a figure must not win.
static int measure(MPI_Comm comm) {
  int reps[SIZES];
  double a[SIZES];
  for (int i = 0; i < IMPLEMENTATIONS; i++) {
    int code = laneway_measure_scatter_root(comm, implementations[i], SIZES, M, 5, 50, 0.1,
                                            T[i], reps, a);
    if (code != LANEWAY_DONE && code != LANEWAY_PRECISION) return code;
    for (int j = 0; j < SIZES; j++)
      if (strstr(laneway_last_flags(j), "no time")) T[i][j] = HUGE_VAL;
  }
  return LANEWAY_DONE;
}

// The fastest for messages of so many bytes. All ranks know the same figures, and choose alike.
static int fastest(int size) {
  int at = 0, best = 0;
  while (at + 1 < SIZES && M[at + 1] <= size) at++;
  for (int i = 1; i < IMPLEMENTATIONS; i++)
    if (T[i][at] < T[best][at]) best = i;
  return best;
}

// To be used instead of MPI_Scatter, for types without gaps.
static int Opt_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  int size;
  MPI_Type_size(recvtype, &size);
  const char *chosen = implementations[fastest(recvcount * size)];
  if (strcmp(chosen, "native") == 0)
    return MPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  return laneway_scatter(comm, chosen, sendbuf, recvbuf, recvcount * size, root);
}

// Scatters numbers that tell where they belong, and counts those that are elsewhere.
static int wrong_after(int count, int root, MPI_Comm comm) {
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int *all = malloc(((size_t)count * ranks + 1) * sizeof(int));
  int *own = malloc(((size_t)count + 1) * sizeof(int));
  if (!all || !own) MPI_Abort(comm, 3);
  for (int i = 0; i < count * ranks; i++) all[i] = rank == root ? 3 * i + count : -1;
  for (int i = 0; i < count; i++) own[i] = -2;
  if (Opt_Scatter(all, count, MPI_INT, own, count, MPI_INT, root, comm) != 0) wrong++;
  for (int i = 0; i < count; i++) wrong += own[i] != 3 * (rank * count + i) + count;
  free(all);
  free(own);
  return wrong;
}

int main(int argc, char **argv) {
  static const int counts[] = {0, 1, 100, 1000, 10000, 50000};
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (measure(MPI_COMM_WORLD) != LANEWAY_DONE) {
    fprintf(stderr, "%s\n", laneway_last_error());
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  for (int i = 0; rank == 0 && i < SIZES; i++) {
    printf("%8d bytes:", M[i]);
    for (int j = 0; j < IMPLEMENTATIONS; j++)
      printf("  %s %.1f us", implementations[j], 1e6 * T[j][i]);
    printf("  -> %s\n", implementations[fastest(M[i])]);
  }
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    wrong += wrong_after(counts[i], ranks - 1, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("Opt_Scatter on %d ranks: %s\n", ranks, wrong ? "WRONG" : "right");
  MPI_Finalize();
  return wrong != 0;
}
