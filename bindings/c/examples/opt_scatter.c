// The MPIBlib paper's example (section 4): measures several scatters once, one of the program's own
// among them, then takes the fastest of them for each message. Build it with the compiler of any
// MPI:
//
//   mpicc opt_scatter.c -o opt_scatter $(pkg-config --cflags --libs laneway)
//   mpirun -n 4 ./opt_scatter

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laneway.h>

enum { IMPLEMENTATIONS = 4, SIZES = 4, OWN = 3 };

static const char *const names[IMPLEMENTATIONS] = {"linear", "binomial", "native", "own"};
static const int M[SIZES] = {1, 1024, 16 * 1024, 128 * 1024};
static double T[IMPLEMENTATIONS][SIZES];

// The program's own: each rank takes its block out of a broadcast of all of them. Good for little.
static int own_scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  int rank, ranks, size, position = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Type_size(recvbuf == MPI_IN_PLACE ? sendtype : recvtype, &size);
  int block = size * (recvbuf == MPI_IN_PLACE ? sendcount : recvcount);
  char *packed = malloc((size_t)block * ranks + 1);
  if (!packed) return MPI_ERR_NO_MEM;
  if (rank == root)
    MPI_Pack(sendbuf, sendcount * ranks, sendtype, packed, block * ranks, &position, comm);
  int code = MPI_Bcast(packed, block * ranks, MPI_PACKED, root, comm);
  position = block * rank;
  if (recvbuf != MPI_IN_PLACE)
    MPI_Unpack(packed, block * ranks, &position, recvbuf, recvcount, recvtype, comm);
  free(packed);
  return code;
}

// At the beginning of the program. Figures that are less precise than asked will do here, but root
// timing may find no time at all for very short messages: such a figure must not win.
static int measure(MPI_Comm comm) {
  int reps[SIZES];
  double a[SIZES];
  for (int i = 0; i < IMPLEMENTATIONS; i++) {
    int code = i == OWN ? laneway_measure_own_scatter_root(comm, own_scatter, MPI_CHAR, MPI_CHAR,
                                                           SIZES, M, M, 5, 50, 0.1, T[i], reps, a)
                        : laneway_measure_scatter_root(comm, names[i], SIZES, M, 5, 50, 0.1, T[i],
                                                       reps, a);
    if (code != LANEWAY_DONE && code != LANEWAY_PRECISION) return code;
    for (int j = 0; j < SIZES; j++)
      if (strstr(laneway_last_flags(j), "no time")) T[i][j] = HUGE_VAL;
  }
  return LANEWAY_DONE;
}

// The fastest for messages of this size. All ranks know the same figures, and choose alike.
static int fastest(long long size) {
  int at = 0, best = 0;
  while (at + 1 < SIZES && M[at + 1] <= size) at++;
  for (int i = 1; i < IMPLEMENTATIONS; i++)
    if (T[i][at] < T[best][at]) best = i;
  return best;
}

// To be used instead of MPI_Scatter: any datatypes, and in place.
static int Opt_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  int size, in_place = recvbuf == MPI_IN_PLACE;
  MPI_Type_size(in_place ? sendtype : recvtype, &size);
  int best = fastest((long long)size * (in_place ? sendcount : recvcount));
  if (best == OWN)
    return own_scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  return laneway_scatter(names[best], sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                         root, comm);
}

// Scatters numbers that tell where they belong, and counts those that are elsewhere: the columns of
// a matrix, each of which arrives as a row; the root leaves its own where it is, if in place.
static int wrong_after(int count, int root, int in_place, MPI_Comm comm) {
  int rank, ranks, wrong = 0;
  MPI_Datatype vector, column;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Type_vector(count, 1, ranks, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, sizeof(int), &column);
  MPI_Type_commit(&column);
  int *all = malloc(((size_t)count * ranks + 1) * sizeof(int));
  int *own = malloc(((size_t)count + 1) * sizeof(int));
  if (!all || !own) MPI_Abort(comm, 3);
  for (int i = 0; i < count * ranks; i++) all[i] = rank == root ? 3 * i + count : -1;
  for (int i = 0; i < count; i++) own[i] = -2;
  in_place = in_place && rank == root;
  void *to = in_place ? MPI_IN_PLACE : own;
  if (Opt_Scatter(all, 1, column, to, count, MPI_INT, root, comm) != 0) wrong++;
  for (int i = 0; i < count; i++)
    wrong += (in_place ? all[i * ranks + rank] : own[i]) != 3 * (i * ranks + rank) + count;
  MPI_Type_free(&vector);
  MPI_Type_free(&column);
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
    for (int j = 0; j < IMPLEMENTATIONS; j++) printf("  %s %.1f us", names[j], 1e6 * T[j][i]);
    printf("  -> %s\n", names[fastest(M[i])]);
  }
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    for (int in_place = 0; in_place < 2; in_place++)
      wrong += wrong_after(counts[i], ranks - 1, in_place, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("Opt_Scatter on %d ranks: %s\n", ranks, wrong ? "WRONG" : "right");
  MPI_Finalize();
  return wrong != 0;
}
