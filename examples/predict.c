/* A model asked from C: predict MODEL NUMBER NUMBER ... prints the answer for one row.

     cc -std=c99 predict.c -lmercer -o predict && ./predict iris.mercer 5.1 3.5 1.4 0.2 */
#include <mercer/mercer.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_COLUMNS = 1000 };

int main(int count, char **words) {
    mercer_model *model = NULL;
    double row[MOST_COLUMNS];
    double answer = 0;
    size_t columns = 0;
    int code;

    if (count < 2) {
        fprintf(stderr, "usage: predict MODEL NUMBER ...\n");
        return 2;
    }
    for (columns = 0; columns + 2 < (size_t)count && columns < MOST_COLUMNS; ++columns) {
        row[columns] = strtod(words[columns + 2], NULL);
    }
    code = mercer_load(words[1], &model);
    if (code == MERCER_OK) code = mercer_predict(model, row, 1, columns, &answer);
    if (code != MERCER_OK) {
        fprintf(stderr, "%s\n", mercer_error());
    } else if (mercer_classes(model) > 0) {
        printf("%s\n", mercer_class_name(model, (size_t)answer));
    } else {
        printf("%g\n", answer);
    }
    mercer_free(model);
    return code;
}
