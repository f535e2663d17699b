#include "analysis/queries/shared_analysis.h"

namespace kernelskill::analysis {

const CodeMap& SharedAnalysis::code() const {
    if (!code_)
        code_.emplace(kernel_.body);
    return *code_;
}

const CodeMap& SharedAnalysis::host(std::uint32_t function) const {
    return hosts_.try_emplace(function, file_.hostFunctions.at(function).body).first->second;
}

const Nest& SharedAnalysis::nest() const {
    if (nest_ == nullptr)
        nest_ = nestOf(file_, kernel_);
    return *nest_;
}

const std::vector<Token>& SharedAnalysis::tokens() const {
    if (tokens_ == nullptr)
        tokens_ = file_.tokens.of(file_.source);
    return *tokens_;
}

} // namespace kernelskill::analysis
