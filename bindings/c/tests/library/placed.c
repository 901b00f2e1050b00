// Where ranks are is kept with their communicator, and goes with it: another one that gets the same
// handle knows nothing of it, nor does a duplicate.

#include <stdio.h>
#include <string.h>

#include <laneway.h>

static int wrong = 0;

#define EXPECT(what)                                       \
  do {                                                     \
    if (!(what)) {                                         \
      fprintf(stderr, "line %d: not %s\n", __LINE__, #what); \
      wrong = 1;                                           \
    }                                                      \
  } while (0)

static int choice(MPI_Comm comm) {
  char name[256];
  return laneway_choice(comm, "scatter", 1024, 0, name, sizeof name, NULL);
}

static int is_unplaced(MPI_Comm comm) {
  return choice(comm) == LANEWAY_USAGE && strstr(laneway_last_error(), "are unknown") != NULL;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, again = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  MPI_Comm first, copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  EXPECT(is_unplaced(first));
  EXPECT(laneway_place(first, argv[1]) == LANEWAY_DONE);
  EXPECT(choice(first) == LANEWAY_DONE);
  EXPECT(is_unplaced(MPI_COMM_WORLD));
  MPI_Comm_dup(first, &copy);
  EXPECT(is_unplaced(copy));
  MPI_Comm_free(&copy);
  EXPECT(choice(first) == LANEWAY_DONE);

  // What is chosen takes what MPI takes.
  double sums[500], own[500];
  int counts[64], displs[64];
  for (int i = 0; i < 500; i++) sums[i] = i + rank;
  EXPECT(laneway_allreduce("chosen", MPI_IN_PLACE, sums, 500, MPI_DOUBLE, MPI_SUM, first) ==
         LANEWAY_DONE);
  for (int i = 0; i < 500; i++) EXPECT(sums[i] == ranks * i + ranks * (ranks - 1) / 2);
  for (int i = 0; i < ranks; i++) counts[i] = 3 * i, displs[i] = 100 * (ranks - 1 - i);
  EXPECT(laneway_scatterv("chosen", sums, counts, displs, MPI_DOUBLE, own, 3 * rank, MPI_DOUBLE,
                          ranks - 1, first) == LANEWAY_DONE);
  for (int i = 0; i < 3 * rank; i++) EXPECT(own[i] == sums[displs[rank] + i]);

  // It is freed without having been forgotten. Libraries give a handle again.
  int handle = laneway_comm(first);
  MPI_Comm_free(&first);
  for (int i = 0; i < 8; i++) {
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    again += laneway_comm(other) == handle;
    EXPECT(is_unplaced(other));
    MPI_Comm_free(&other);
  }

  EXPECT(laneway_place(MPI_COMM_WORLD, argv[1]) == LANEWAY_DONE);
  EXPECT(choice(MPI_COMM_WORLD) == LANEWAY_DONE);
  EXPECT(laneway_place(MPI_COMM_WORLD, NULL) == LANEWAY_DONE);
  EXPECT(is_unplaced(MPI_COMM_WORLD));
  EXPECT(laneway_place(MPI_COMM_WORLD, argv[1]) == LANEWAY_DONE);

  int any = 0;
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && !any) printf("placements go on %d ranks, handle again %d times\n", ranks, again);
  MPI_Finalize();
  return any;
}
