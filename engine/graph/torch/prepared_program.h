/// A program that LibTorch runs node by node.
#pragma once

#include "analysis/source/error.h"
#include "engine/graph/program.h"
#include "engine/graph/reference/torch_wire.h"
#include "engine/graph/torch/torch_operators.h"
#include "engine/graph/torch/values.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// Which values a run keeps, beside the program's outputs.
struct KeptValues {
    std::set<std::string, std::less<>> names;
    bool keepsAll = false;
};

/// Not thread-safe: torch's seed and its handling of TF32 are of the whole process.
class PreparedProgram {
public:
    /// Finds the operators, and brings inputs and weights to the subject's device. The archive of
    /// the subject is not looked at. Unsupported for operators that are not run, all of them by
    /// name; InvalidInput for inputs that do not fit the program, by name; Missing without the
    /// device.
    [[nodiscard]] static Result<PreparedProgram> prepare(std::shared_ptr<const Program> program,
                                                         const TorchSubject& subject);

    /// The same without inputs and weights, for runs from values of the caller. The subject's
    /// `inputs` are not looked at.
    [[nodiscard]] static Result<PreparedProgram>
    prepareUnbound(std::shared_ptr<const Program> program, const TorchSubject& subject);

    /// prepareUnbound() in the program's own types, whatever the subject's precision is.
    [[nodiscard]] static Result<PreparedProgram>
    prepareAsWritten(std::shared_ptr<const Program> program, TorchSubject subject);

    /// The values that a run begins with. Also sets torch's seed and whether it uses TF32.
    [[nodiscard]] Values begin() const;

    /// Runs all nodes, from the values of begin(). Other values are freed after their last use. On
    /// a GPU the results may not be ready yet. Failed, with the node, if an operator fails.
    [[nodiscard]] Result<Values> run(Values values, const KeptValues& kept) const;

    /// Runs one node of the program, or the same with fewer arguments. `values` holds what it
    /// reads, and gets its results. InvalidInput if the program has no node of that name and
    /// operator; Failed, with the node, if the operator fails.
    [[nodiscard]] Result<void> runNode(const Node& node, Values& values) const;

    [[nodiscard]] const Program& program() const { return *program_; }
    [[nodiscard]] const Place& place() const { return place_; }
    [[nodiscard]] bool allowsTf32() const { return allowsTf32_; }

private:
    struct Step {
        const Node* node = nullptr;
        std::optional<TorchOperator> called; ///< nullopt: arithmetic on extents.
        std::vector<std::string> done;       ///< Values that no later step reads.
    };

    PreparedProgram(std::shared_ptr<const Program> program, const TorchSubject& subject)
        : program_(std::move(program)), seed_(subject.seed), allowsTf32_(subject.allowsTf32) {}

    [[nodiscard]] Result<void> findOperators();
    void findLastUses();
    [[nodiscard]] Result<void> runStep(const Step& step, Values& values) const;
    /// runStep(), with errors in place of exceptions.
    [[nodiscard]] Result<void> tryStep(const Step& step, Values& values) const;
    /// torch.export on a CPU gives the states that oneDNN's LSTM returns one dimension of extent 1
    /// too much. What reads them was traced with it, so they get it here, too.
    [[nodiscard]] at::Tensor asExported(const Node& node, const std::string& name,
                                        const at::Tensor& tensor) const;
    /// How a result that is read later differs from the type that the program gives it, as the rest
    /// of a sentence; empty if it does not.
    [[nodiscard]] std::string typeProblem(const std::string& name, const at::Tensor& tensor) const;
    [[nodiscard]] Result<void> store(const Node& node, torch::jit::Stack& results,
                                     Values& values) const;

    std::shared_ptr<const Program> program_;
    Place place_;
    std::uint64_t seed_;
    bool allowsTf32_;
    std::vector<Step> steps_;
    std::set<std::string, std::less<>> read_; ///< Values that a node or an output reads.
    Values bound_;                            ///< Inputs and weights.
};

/// Keeps all operators from using TF32 while it lives, if `isNeeded`.
class Tf32Limit {
public:
    explicit Tf32Limit(bool isNeeded);
    Tf32Limit(const Tf32Limit&) = delete;
    Tf32Limit& operator=(const Tf32Limit&) = delete;
    ~Tf32Limit();

private:
    bool isNeeded_;
    bool products_ = false; ///< What was allowed before.
    bool convolutions_ = false;
};

/// Lets convolutions use TF32 from now on, as PyTorch does by default, and products if `products`.
void useTf32(bool products);

} // namespace kernelskill::engine::graph
