/// ModelEditDrafter: a kernel in, an edit out, by a language model. The edit is a proposal like any
/// skill's: the Reviewer decides.
#pragma once

#include "engine/model/language_model.h"
#include "engine/planning/edit_drafter.h"
#include "engine/proposal/call_rules.h"
#include "engine/proposal/model_task.h"

#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct ModelProposal {
    ProposedEdit edit; ///< Of the kernel's own text and nothing else.
    std::string
        claim; ///< What the model says of it, printable ASCII: no finding, not to be acted on.
    TokenUsage usage; ///< Of all turns.
};

/// Thread-safe, if the model is.
class ModelEditDrafter {
public:
    /// Both outlive the drafter. Reads the built-in CUDA headers' names.
    ModelEditDrafter(LanguageModel& model, const analysis::Toolchain& toolchain);

    /// Asks for a new text of the kernel. A reply that the rules refuse (proposal/kernel_rules.h,
    /// proposal/call_rules.h) is asked for once more, with the reason. Unsupported, with the
    /// reason, when that one is refused too, or for a kernel that cannot be replaced; what
    /// LanguageModel::ask() says when there is no reply. Compiles and runs nothing.
    [[nodiscard]] Result<ModelProposal> propose(const ModelTask& task, std::stop_token stop) const;

private:
    [[nodiscard]] Result<ModelProposal> judged(const ModelTask& task,
                                               const ModelReply& reply) const;

    LanguageModel& model_;
    const analysis::Toolchain& toolchain_;
    DeviceNames names_;
};

} // namespace kernelskill::engine
