#include <mercer/data/samples.hpp>

int main() {
    return mercer::embedded("iris").size() == 150 ? 0 : 1;
}
