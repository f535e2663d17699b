#include "lsp-server/server/kept_judgements.h"

namespace kernelskill::lsp {

void KeptJudgements::keep(const Snapshot& snapshot, const engine::Verification& done,
                          const std::string& against) {
    for (const engine::JudgedKernel& judged : done.kernels) {
        const auto* kernel = analysis::kernelNamed(snapshot.model(), judged.change.name);
        if (kernel != nullptr)
            documents_[snapshot.uri][judged.change.name] = std::make_shared<const KeptJudgement>(
                judged, against, engine::definitionOf(snapshot.model(), *kernel));
    }
}

KeptJudgements::OfKernels KeptJudgements::of(const std::string& uri) const {
    const auto found = documents_.find(uri);
    return found == documents_.end() ? OfKernels{} : found->second;
}

} // namespace kernelskill::lsp
