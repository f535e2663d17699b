#include "engine/search/draft.h"

#include "analysis/syntax/lexer.h"
#include "engine/comparison/program_difference.h"
#include "engine/review/edited_program.h"
#include "engine/storage/text_hash.h"

#include <string_view>
#include <utility>

namespace kernelskill::engine {
namespace {

void addTokens(TextHash& hash, std::string_view text) {
    for (const analysis::Token& token : analysis::lex(text))
        hash.add(token.text);
}

} // namespace

std::uint64_t codeHash(const KernelVersion& text) {
    const analysis::KernelModel& kernel = text.kernel();
    const ProgramSource& program = text.program;
    TextHash hash;
    hash.add(kernel.normalisedHash);
    const std::string_view whole = program.text;
    if (kernel.file == program.file) {
        addTokens(hash, whole.substr(0, kernel.span.begin));
        addTokens(hash, whole.substr(kernel.span.end));
    } else {
        addTokens(hash, whole);
    }
    for (const auto& [file, header] : program.unsaved)
        addTokens(hash, header);
    return hash.value();
}

Result<Draft> draftOf(const KernelVersion& text, analysis::EditSet edits,
                      const skills::Accuracy& accuracy, const analysis::Toolchain& toolchain,
                      const std::stop_token& stop) {
    auto program = withEdits(text.program, edits);
    if (!program)
        return std::unexpected(program.error());
    if (stop.stop_requested())
        return std::unexpected(Error{ErrorKind::Cancelled, "the edit was not parsed", {}, {}});
    auto model = analysis::analyzeFile(program->file, program->text, program->command, toolchain,
                                       program->unsaved);
    if (!model)
        return std::unexpected(model.error());
    program->model = std::make_shared<const analysis::FileModel>(std::move(*model));
    if (analysis::kernelNamed(*program->model, text.kernelName) == nullptr)
        return std::unexpected(
            Error{ErrorKind::Failed, "the edit leaves no kernel " + text.kernelName, "", ""});
    Draft draft;
    draft.text = {std::move(*program), text.kernelName};
    draft.edits = std::move(edits);
    draft.accuracy = accuracy;
    draft.codeHash = codeHash(draft.text);
    draft.diff = diffOf(text.program, draft.edits);
    return draft;
}

} // namespace kernelskill::engine
