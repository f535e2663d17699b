/// ModelEditDrafter: asks a language model for an edit of a kernel. Like a skill's edit, it is a
/// proposal: the Reviewer decides.
#pragma once

#include "engine/model/language_model.h"
#include "engine/planning/edit_drafter.h"
#include "engine/proposal/call_rules.h"
#include "engine/proposal/model_task.h"

#include <stop_token>
#include <string>

namespace kernelskill::engine {

struct ModelProposal {
    ProposedEdit edit; ///< It changes only the kernel's own text.
    std::string
        claim; ///< The model's words in printable ASCII: not a finding, and not to be acted on.
    TokenUsage usage; ///< Summed over all turns.
};

/// Thread-safe if the model is.
class ModelEditDrafter {
public:
    /// Both arguments outlive the drafter. Reads the names in the built-in CUDA headers.
    ModelEditDrafter(LanguageModel& model, const analysis::Toolchain& toolchain);

    /// Asks for a new text of the kernel. If the rules refuse the reply (proposal/kernel_rules.h,
    /// proposal/call_rules.h), asks once more and gives the reason. Unsupported, with the reason,
    /// if the second reply is refused as well, or if the kernel cannot be replaced. If there is no
    /// reply, returns the error of LanguageModel::ask(). Compiles and runs nothing.
    [[nodiscard]] Result<ModelProposal> propose(const ModelTask& task, std::stop_token stop) const;

private:
    [[nodiscard]] Result<ModelProposal> judged(const ModelTask& task,
                                               const ModelReply& reply) const;

    LanguageModel& model_;
    const analysis::Toolchain& toolchain_;
    DeviceNames names_;
};

} // namespace kernelskill::engine
