#include "engine/proposal/model_edit_drafter.h"

#include "engine/proposal/kernel_block.h"
#include "engine/proposal/kernel_rules.h"
#include "engine/proposal/model_prompt.h"
#include "engine/review/edited_program.h"

#include <utility>

namespace kernelskill::engine {
namespace {

/// The maximum number of replies per proposal.
constexpr int turns = 2;

std::unexpected<Error> refused(std::string why, const ModelTask& task) {
    return std::unexpected(
        Error{ErrorKind::Unsupported, std::move(why), task.kernel.qualifiedName, {}});
}

} // namespace

ModelEditDrafter::ModelEditDrafter(LanguageModel& model, const analysis::Toolchain& toolchain)
    : model_(model), toolchain_(toolchain), names_(toolchain.preludeInclude) {}

Result<ModelProposal> ModelEditDrafter::judged(const ModelTask& task,
                                               const ModelReply& reply) const {
    if (reply.end == ReplyEnd::LengthLimit)
        return refused("it was cut off at its limit of tokens", task);
    if (reply.end == ReplyEnd::Refused)
        return refused("the model declined", task);
    auto block = kernelBlock(reply.text);
    if (!block)
        return std::unexpected(block.error());
    const ProgramSource& program = task.program;
    const analysis::Span span = task.kernel.span;
    const auto original = std::string_view(program.text).substr(span.begin, span.size());
    if (auto why = refusalOf(original, block->code))
        return refused(std::move(*why), task);
    if (block->code == original)
        return refused("it changes nothing", task);

    ModelProposal proposal{{{{program.file, {{span, block->code}}}}, task.numerics},
                           std::move(block->claim),
                           reply.usage};
    const auto edited = withEdits(program, proposal.edit.edits);
    if (!edited)
        return std::unexpected(edited.error());
    const auto model = analysis::analyzeFile(edited->file, edited->text, edited->command,
                                             toolchain_, edited->unsaved);
    if (!model)
        return std::unexpected(model.error());
    if (auto message = firstNewError(*program.model, *model))
        return refused("it does not compile: " + *message, task);
    const auto* kernel = analysis::kernelNamed(*model, task.kernel.qualifiedName);
    if (kernel == nullptr)
        return refused("it leaves no kernel of that name", task);
    if (auto why = refusalOf(*program.model, task.kernel, *model, *kernel, names_))
        return refused(std::move(*why), task);
    return proposal;
}

Result<ModelProposal> ModelEditDrafter::propose(const ModelTask& task, std::stop_token stop) const {
    if (task.kernel.fromMacro)
        return refused("the kernel comes from a macro", task);
    if (task.kernel.file != task.program.file)
        return refused("the kernel is in another file", task);
    auto prompt = promptFor(task);
    if (!prompt)
        return std::unexpected(prompt.error());
    TokenUsage usage;
    for (int turn = 1;; ++turn) {
        const auto reply = model_.ask(*prompt, stop, {});
        if (!reply)
            return std::unexpected(reply.error());
        usage = {usage.input + reply->usage.input, usage.output + reply->usage.output};
        auto proposal = judged(task, *reply);
        if (stop.stop_requested())
            return std::unexpected(Error{ErrorKind::Cancelled, "cancelled", model_.name(), {}});
        if (proposal) {
            proposal->usage = usage;
            return proposal;
        }
        // An empty reply cannot be part of a conversation.
        const bool isLast =
            turn == turns || reply->text.empty() || reply->end != ReplyEnd::Finished;
        if (proposal.error().kind != ErrorKind::Unsupported || isLast) {
            proposal.error().what =
                "the language model's proposal was refused: " + proposal.error().what;
            return proposal;
        }
        prompt->messages.push_back({ModelMessage::Role::Model, reply->text});
        prompt->messages.push_back(
            {ModelMessage::Role::User, secondRequest(proposal.error().what)});
    }
}

} // namespace kernelskill::engine
