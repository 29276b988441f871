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

}  // namespace mercer::lapack
