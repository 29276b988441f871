/* Models for programs in C, and in any language that calls C.

     mercer_model *model = NULL;
     double row[4] = {5.1, 3.5, 1.4, 0.2}, answer;
     if (mercer_load("iris.mercer", &model) != MERCER_OK ||
         mercer_predict(model, row, 1, 4, &answer) != MERCER_OK) {
         fprintf(stderr, "%s\n", mercer_error());
     }
     printf("%s\n", mercer_class_name(model, (size_t)answer));
     mercer_free(model);

   Compile with -lmercer. Functions that may fail return a code; mercer_error() then says in words
   what was wrong, naming file, value and remedy. A model does not change: it may be asked by several
   threads at once. Files may come from anybody: what is no model is refused. What stands here keeps
   its meaning; functions may be added. */
#ifndef MERCER_MERCER_H
#define MERCER_MERCER_H

#include <stddef.h>

#if defined(__GNUC__)
#define MERCER_C_API __attribute__((visibility("default")))
#else
#define MERCER_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MERCER_OK = 0,
    MERCER_BAD_INPUT = 1,     /* a file that is no model, rows of another width, a null pointer */
    MERCER_OUT_OF_MEMORY = 2,
    MERCER_FAILURE = 3        /* anything else: a disk that fails */
};

typedef struct mercer_model mercer_model;

/* A model file of mercer or of LIBSVM. On failure *model is NULL. */
MERCER_C_API int mercer_load(const char *path, mercer_model **model);
/* The same from bytes in memory, which are not needed any more afterwards. */
MERCER_C_API int mercer_load_memory(const void *bytes, size_t size, mercer_model **model);
/* NULL is nothing to be freed. */
MERCER_C_API void mercer_free(mercer_model *model);

/* What the last call of this thread that failed complained of; "" before the first. Valid until the
   thread calls again. */
MERCER_C_API const char *mercer_error(void);
/* "0.1.0" */
MERCER_C_API const char *mercer_version(void);

/* Columns of the rows that are predicted; scores of a row; classes, 0 for other machines than
   classifiers; probabilities of a row, 0 where the model has none. All 0 for NULL. */
MERCER_C_API size_t mercer_columns(const mercer_model *model);
MERCER_C_API size_t mercer_scores_per_row(const mercer_model *model);
MERCER_C_API size_t mercer_classes(const mercer_model *model);
MERCER_C_API size_t mercer_probabilities_per_row(const mercer_model *model);
/* The name of a class, from 0; NULL when there is none. It lives as long as the model. */
MERCER_C_API const char *mercer_class_name(const mercer_model *model, size_t position);
/* Task, kernel, vectors and the like in lines of text. It lives as long as the model. */
MERCER_C_API const char *mercer_describe(const mercer_model *model);

/* For `count` rows of `columns` numbers, one row after another. `columns` must be
   mercer_columns(model); of tables whose columns are of several kinds a category is the number of its
   level and NAN what is missing.

   mercer_predict writes one number a row: the position of the class, the value of a regression, +1
   inside and -1 outside of a region, the number of a group. mercer_scores writes
   mercer_scores_per_row numbers a row, mercer_probabilities as many as there are probabilities. */
MERCER_C_API int mercer_predict(const mercer_model *model, const double *rows, size_t count,
                                size_t columns, double *answers);
MERCER_C_API int mercer_scores(const mercer_model *model, const double *rows, size_t count,
                               size_t columns, double *scores);
MERCER_C_API int mercer_probabilities(const mercer_model *model, const double *rows, size_t count,
                                      size_t columns, double *probabilities);

#ifdef __cplusplus
}
#endif

#endif
