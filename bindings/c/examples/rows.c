// Work over several sites: rank 0 has a matrix and a vector, the ranks multiply its rows, and
// rank 0 gets the products back. Rows go out and products come back by whatever is fastest between
// the sites; the calls below do not name them. Build it with the compiler of any MPI:
//
//   mpicc rows.c -o rows $(pkg-config --cflags --libs laneway)
//   mpirun -n 16 laneway sites measure -o sites.toml     # once
//   mpirun -n 16 ./rows sites.toml
//   laneway lab run --sites 2x4 --wan 5ms,25Mbit,100Mbit -- mpirun ./rows   # a lab says it itself

#include <stdio.h>
#include <stdlib.h>

#include <laneway.h>

enum { COLUMNS = 1024, ROWS = 32 };  // rows of each rank

// Ends the run with what the library has to say.
static void must(int code, const char *what) {
  if (code == LANEWAY_DONE) return;
  fprintf(stderr, "%s:\n%s\n", what, laneway_last_error());
  MPI_Abort(MPI_COMM_WORLD, code);
}

static void *room(size_t count) {
  void *room = calloc(count ? count : 1, sizeof(double));
  if (!room) MPI_Abort(MPI_COMM_WORLD, LANEWAY_ENVIRONMENT);
  return room;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  // Where the ranks are: what rank 0 says counts. Where it names no sites, MPI's own
  // scatter and gather are used.
  const char *sites = argc > 1 ? argv[1] : getenv("LANEWAY_SITES");
  int has_sites = sites != NULL;
  MPI_Bcast(&has_sites, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const char *how = has_sites ? "chosen" : "native";
  int code = has_sites ? laneway_place(MPI_COMM_WORLD, sites) : LANEWAY_DONE;
  if (code != LANEWAY_DONE) {  // on every rank alike
    if (rank == 0) fprintf(stderr, "where the ranks are:\n%s\n", laneway_last_error());
    MPI_Finalize();
    return code;
  }

  double *matrix = room(rank == 0 ? (size_t)ranks * ROWS * COLUMNS : 0);
  double *products = room(rank == 0 ? (size_t)ranks * ROWS : 0);
  double *rows = room(ROWS * COLUMNS), *mine = room(ROWS), *vector = room(COLUMNS);
  if (rank == 0) {
    for (int i = 0; i < ranks * ROWS; i++)
      for (int j = 0; j < COLUMNS; j++) matrix[(size_t)i * COLUMNS + j] = i % 7 + j % 3;
    for (int j = 0; j < COLUMNS; j++) vector[j] = j % 5;
  }

  double begun = MPI_Wtime();
  MPI_Comm world = MPI_COMM_WORLD;
  must(laneway_bcast(how, vector, COLUMNS, MPI_DOUBLE, 0, world), "the vector");
  must(laneway_scatter(how, matrix, ROWS * COLUMNS, MPI_DOUBLE, rows, ROWS * COLUMNS, MPI_DOUBLE, 0,
                       world), "the rows");
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) mine[i] += rows[i * COLUMNS + j] * vector[j];
  must(laneway_gather(how, mine, ROWS, MPI_DOUBLE, products, ROWS, MPI_DOUBLE, 0, world),
       "the products");
  double took = MPI_Wtime() - begun;

  if (rank == 0) {
    int wrong = 0;
    for (int i = 0; i < ranks * ROWS; i++) {
      double product = 0;
      for (int j = 0; j < COLUMNS; j++) product += matrix[(size_t)i * COLUMNS + j] * vector[j];
      wrong += products[i] != product;
    }
    char name[256] = "native";
    double predicted = 0;
    if (has_sites)
      must(laneway_choice(MPI_COMM_WORLD, "scatter", ROWS * COLUMNS * (int)sizeof(double), 0, name, sizeof name, &predicted),
           "the choice");
    printf("rows by %s in %.3f s: %d of %d products wrong\n", name, took, wrong, ranks * ROWS);
    if (wrong) MPI_Abort(MPI_COMM_WORLD, LANEWAY_WRONG);
  }
  free(matrix), free(products), free(rows), free(mine), free(vector);
  MPI_Finalize();
  return 0;
}
