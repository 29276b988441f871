// What the program does where it can hardly do anything: no memory for a message, no stream to say
// it on.
#pragma once

namespace mercer::cli {

/// Sees to it that the descriptors 0, 1 and 2 are taken: a file opened in the place of a closed
/// standard error would get the messages. Reading from or writing to what was closed still fails.
void open_standard_streams();

}  // namespace mercer::cli
