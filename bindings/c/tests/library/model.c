// A model is estimated by these ranks, asked, saved and loaded; and errors are reported.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <laneway.h>

static int wrong = 0;

#define EXPECT(what)                                                                             \
  do {                                                                                           \
    if (!(what)) {                                                                               \
      fprintf(stderr, "line %d: not %s\n%s\n", __LINE__, #what, laneway_last_error());           \
      wrong = 1;                                                                                 \
    }                                                                                            \
  } while (0)

static int says(const char *words) { return strstr(laneway_last_error(), words) != NULL; }

int main(int argc, char **argv) {
  int rank, ranks, known;
  double seconds = -1, low = -1, high = -1, longer = -1, again = -1;
  laneway_model *model = NULL, *loaded = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  EXPECT(laneway_estimate_model(MPI_COMM_WORLD, "ptolemy", 0.1, 1, 20, &model) == LANEWAY_USAGE);
  EXPECT(says("unknown model") && model == NULL);
  EXPECT(laneway_estimate_model(MPI_COMM_WORLD, "hockney", 0.1, 1, 20, NULL) == LANEWAY_USAGE);
  EXPECT(laneway_estimate_model(MPI_COMM_WORLD, "hockney", 0, 1, 20, &model) == LANEWAY_USAGE);
  EXPECT(laneway_estimate_model(MPI_COMM_WORLD, rank == 1 ? "loggp" : "hockney", 0.1, 1, 20,
                                &model) == LANEWAY_USAGE);

  // On ranks that share cores nothing may hold; the model is there all the same.
  known = laneway_estimate_model(MPI_COMM_WORLD, "hockney", 0.1, 1, 20, &model);
  EXPECT(known == LANEWAY_DONE || known == LANEWAY_WRONG);
  EXPECT(model != NULL);
  EXPECT(laneway_predict(model, "scatter", "binomial", 0, 1000, 0, &seconds, &low, &high) == known);
  if (known == LANEWAY_DONE) {
    EXPECT(seconds > 0 && seconds < 1);
    // A call that is beyond the model has no interval.
    EXPECT((isnan(low) && isnan(high)) || (0 <= low && low <= seconds && seconds <= high));
    EXPECT(laneway_predict(model, "scatter", "binomial", 0, 1000000, 0, &longer, NULL, NULL) ==
           LANEWAY_DONE);
    EXPECT(longer > seconds);
    EXPECT(laneway_predict(model, "bcast", "linear", 4 * ranks, 8, 4 * ranks - 1, &longer, NULL,
                           NULL) == LANEWAY_DONE);
  }
  EXPECT(laneway_predict(model, "scatter", "sideways", 0, 8, 0, &seconds, NULL, NULL) ==
         LANEWAY_USAGE);
  EXPECT(laneway_predict(model, "scatter", "linear", 0, 8, ranks, &seconds, NULL, NULL) ==
         LANEWAY_USAGE);
  EXPECT(laneway_predict(model, "scatter", "linear", 0, -8, 0, &seconds, NULL, NULL) ==
         LANEWAY_USAGE);
  EXPECT(laneway_predict(NULL, "scatter", "linear", 0, 8, 0, &seconds, NULL, NULL) ==
         LANEWAY_USAGE);

  if (rank == 0) {
    EXPECT(laneway_save_model(model, argv[1]) == LANEWAY_DONE);
    EXPECT(laneway_load_model(argv[1], &loaded) == known);
    if (known == LANEWAY_DONE) {
      EXPECT(laneway_predict(model, "gather", "linear", 0, 4096, 0, &seconds, NULL, NULL) == 0);
      EXPECT(laneway_predict(loaded, "gather", "linear", 0, 4096, 0, &again, NULL, NULL) == 0);
      EXPECT(fabs(again / seconds - 1) < 1e-6);
    }
    laneway_free_model(loaded);
    loaded = NULL;
    EXPECT(laneway_load_model("no/such/file", &loaded) == LANEWAY_ENVIRONMENT);
    EXPECT(laneway_save_model(model, "no/such/folder/model.toml") == LANEWAY_ENVIRONMENT);
  }
  laneway_free_model(model);
  laneway_free_model(NULL);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && !wrong) printf("a model as promised on %d ranks\n", ranks);
  return wrong;
}
