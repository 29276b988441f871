// The LAPACK routines in use, by their Fortran names and with Fortran's conventions: matrices are
// column-major, so our row-major symmetric ones are seen with their triangles exchanged. They come
// with OpenBLAS, which is opened at the first call.
#pragma once

namespace mercer::lapack {

/// All eigenvalues (ascending, to w) of the symmetric n × n matrix a, by divide and conquer; with
/// job 'V' column i of a becomes eigenvector i. Returns LAPACK's info: 0 when all went well.
int dsyevd(char job, char triangle, int n, double* a, int lda, double* w);

/// U'U of a symmetric positive definite matrix, into its triangle; info > 0 when it is not.
int dpotrf(char triangle, int n, double* a, int lda);
int spotrf(char triangle, int n, float* a, int lda);
/// Solves with the factor of dpotrf; b has the right-hand sides as columns.
int dpotrs(char triangle, int n, int sides, const double* a, int lda, double* b, int ldb);
/// The inverse of a triangular matrix, in place.
int dtrtri(char triangle, char diagonal, int n, double* a, int lda);

// The steps of dsyevd for the upper triangle, so that whoever waits can be asked between them.

/// Reduces the last `panel` columns of the symmetric n × n matrix to tridiagonal form; w (ldw ×
/// panel) gets what the columns before them are then to be changed by. Fills e and tau of these
/// columns.
void dlatrd_upper(int n, int panel, double* a, int lda, double* e, double* tau, double* w, int ldw);
/// The same for all columns, one by one, with the diagonal to d.
int dsytd2_upper(int n, double* a, int lda, double* d, double* e, double* tau);
/// Eigenvalues (ascending, to d) of the tridiagonal matrix d, e.
int dsterf(int n, double* d, double* e);
/// The same with eigenvectors as the columns of z, by divide and conquer.
int dstedc(int n, double* d, double* e, double* z, int ldz);
/// c = Q c for the Q that the reduction left in a and tau; c has `columns` columns.
int dormtr_upper(int n, int columns, const double* a, int lda, const double* tau, double* c,
                 int ldc);

}  // namespace mercer::lapack
