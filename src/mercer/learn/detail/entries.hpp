// One function a machine, which stands in its own .cpp file and describes it; registry.cpp calls
// them.
#pragma once

#include "mercer/learn/registry.hpp"

namespace mercer {

std::vector<MachineEntry> svm_entries();
MachineEntry class_means_entry();
MachineEntry parzen_entry();
MachineEntry perceptron_entry();
MachineEntry adatron_entry();
MachineEntry ridge_entry();
std::vector<MachineEntry> risk_entries();
MachineEntry gaussian_process_entry();
MachineEntry kmeans_entry();
MachineEntry vector_quantiser_entry();
MachineEntry kernel_pca_entry();
MachineEntry hebbian_entry();
MachineEntry cca_entry();
MachineEntry ica_entry();
MachineEntry dependency_entry();

}  // namespace mercer
