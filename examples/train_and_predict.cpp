// From data to a machine, its certificate, a file, and predictions on rows it has never seen.
#include <cstdio>
#include <mercer/mercer.hpp>

using namespace mercer;

int main() {
    // 1797 handwritten digits travel with the library; read("file.csv") reads your own.
    const Dataset data = embedded("digits");

    // Three rows of ten are set aside, of every class its share.
    const Split parts = split_rows(data.size(), 0.3, /*seed=*/1, classes_of(data.y).index);
    const Dataset train = data.select(parts.train);
    const Dataset unseen = data.select(parts.test);

    // A kernel is a value; gamma=scale is found from the data when the machine is trained.
    const Kernel kernel = rbf({.gamma = scale_rule});
    const Model model = svc({.kernel = kernel, .C = 10}).fit(train);

    // Every pair of classes was solved to a proved distance from its optimum.
    const Report report = model.report();
    std::printf("kernel           %s\n", model.expansion().kernel.text().c_str());
    std::printf("support vectors  %zu of %zu rows\n", model.expansion().size(), train.size());
    std::printf("relative gap     %.1e (%s)\n", report.relative_gap,
                describe(report.status).c_str());

    // Files are written whole or not at all, and what is loaded predicts the same.
    save(model, "train_and_predict.mercer");
    const Model loaded = load("train_and_predict.mercer");
    std::remove("train_and_predict.mercer");

    const Labels labels = loaded.predict_labels(unseen.x);
    std::size_t right = 0;
    for (std::size_t i = 0; i < unseen.size(); ++i) right += labels.text(i) == unseen.y.text(i);
    const double accuracy = static_cast<double>(right) / static_cast<double>(unseen.size());
    std::printf("accuracy         %.4f on %zu rows never seen\n", accuracy, unseen.size());

    const bool good =
        report.status == FitStatus::converged && report.relative_gap < 0.01 && accuracy > 0.97;
    return good ? 0 : 1;
}
