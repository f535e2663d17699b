#include "skills/kernel-fission/fission_text.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/code_lines.h"
#include "skills/gates/host_launches.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class FissionWriter {
public:
    FissionWriter(const SkillContext& context, const FissionParts& parts)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, context.kernel), parts_(parts),
          first_(freeName("first")), rest_(freeName("rest")) {}

    [[nodiscard]] std::vector<TextEdit> edits() const {
        const std::uint32_t behind = layout_.endOfLineTrivia(kernel_.span.end);
        const std::string gap =
            layout_.newline() + layout_.newline() + layout_.indentation(kernel_.span.begin);
        std::vector<TextEdit> edits{{{behind, behind},
                                     gap + kernelText(first_, parts_.first, parts_.leftOutOfFirst) +
                                         gap +
                                         kernelText(rest_, parts_.rest, parts_.leftOutOfRest)}};
        for (const LaunchSite& launch : kernel_.launches) {
            const FunctionBody& host = context_.file.hostFunctions[launch.host].body;
            const Span span = host.stmt(launchStatement(context_, launch)).span;
            edits.push_back({span, launchText(span, first_) + layout_.newline() +
                                       layout_.indentation(span.begin) + launchText(span, rest_)});
        }
        return edits;
    }

private:
    /// Returns the kernel's name with the word behind it, in its own style, and with a number if
    /// the file has that name.
    [[nodiscard]] std::string freeName(std::string word) const {
        if (kernel_.name.contains('_'))
            word.insert(0, "_");
        else
            word[0] = static_cast<char>(word[0] - 'a' + 'A');
        const std::string wanted = kernel_.name + word;
        std::string name = wanted;
        for (int number = 2; !occurrences(source_.text(), name).empty(); ++number)
            name = wanted + std::to_string(number);
        return name;
    }

    [[nodiscard]] std::string launchText(Span statement, const std::string& name) const {
        std::string text(source_.slice(statement));
        const Span old = occurrences(text, kernel_.name).front();
        text.replace(old.begin, old.size(), name);
        return text;
    }

    /// Writes the kernel under another name, without the statements that are left out and without
    /// declarations that are of no use then.
    [[nodiscard]] std::string kernelText(const std::string& name, const std::vector<StmtId>& own,
                                         std::vector<StmtId> gone) const {
        const std::vector<StmtId> useless = uselessWith(own);
        gone.insert(gone.end(), useless.begin(), useless.end());
        std::vector<TextEdit> changes{{kernel_.nameSpan, name}};
        for (const StmtId id : gone) {
            const Stmt& stmt = body_.stmt(id);
            const std::uint32_t begin = beginWithPragma(stmt);
            const bool isOfOwnLines = layout_.startsLine(begin) && layout_.endsLine(stmt.span.end);
            changes.push_back(
                {isOfOwnLines ? Span{layout_.lineBegin(begin), layout_.lineAfter(stmt.span.end)}
                              : layout_.statementWithLine(stmt.span),
                 ""});
        }
        return rewritten(source_, kernel_.span, std::move(changes));
    }

    /// Returns the declarations of which neither the part nor what both parts keep uses a variable.
    [[nodiscard]] std::vector<StmtId> uselessWith(const std::vector<StmtId>& own) const {
        std::vector<StmtId> kept = own;
        for (const StmtId id : parts_.both)
            if (body_.stmt(id).kind != StmtKind::Declaration)
                kept.push_back(id);
        const auto isUsed = [&](StmtId declaration) {
            return std::ranges::any_of(body_.stmt(declaration).declared, [&](VariableId id) {
                return std::ranges::any_of(code_.uses(id), [&](ExprId use) {
                    const StmtId user = code_.statement(use);
                    const auto holdsUse = [&](StmtId each) { return code_.encloses(each, user); };
                    // A condition around the parts is of both.
                    return std::ranges::any_of(kept, holdsUse) || isAroundParts(user);
                });
            });
        };
        std::vector<StmtId> useless;
        std::ranges::copy_if(parts_.both, std::back_inserter(useless), [&](StmtId id) {
            return body_.stmt(id).kind == StmtKind::Declaration;
        });
        for (bool isNew = true; isNew;) {
            const auto used = std::ranges::find_if(useless, isUsed);
            isNew = used != useless.end();
            if (isNew) {
                kept.push_back(*used);
                useless.erase(used);
            }
        }
        return useless;
    }
    [[nodiscard]] bool isAroundParts(StmtId statement) const {
        return statement != parts_.first.front() && body_.stmt(statement).kind == StmtKind::If &&
               code_.encloses(statement, parts_.first.front());
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const FissionParts& parts_;
    std::string first_;
    std::string rest_;
};

} // namespace

Gated<void> requireRepeatableLaunches(const SkillContext& context) {
    KERNELSKILL_CHECK(requireFollowableLaunches(context));
    if (context.kernel.launches.empty())
        return refuse("no-launch", context.kernel.name + " is not launched in this file");
    for (const LaunchSite& launch : context.kernel.launches) {
        const std::uint32_t line = lineNumber(context, launch.span.begin);
        const CodeMap& host = context.shared().host(launch.host);
        if (launchStatement(context, launch) == noId)
            return refuse("launch-in-branch",
                          fmt::format("the launch on line {} is no statement of a block", line));
        if (launch.span.begin < context.kernel.span.end)
            return refuse("defined-later",
                          fmt::format("line {} launches {}, which is defined below", line,
                                      context.kernel.name));
        std::vector<ExprId> values = launch.arguments;
        values.insert(values.end(), {launch.grid, launch.block, launch.sharedBytes, launch.stream});
        for (const ExprId value : values)
            if (value != noId && !hasNoEffect(host, value))
                return refuse("argument-acts",
                              fmt::format("{} on line {} does more than give a value",
                                          context.file.source->slice(host.body().expr(value).span),
                                          line));
    }
    return {};
}

std::vector<TextEdit> fissionEdits(const SkillContext& context, const FissionParts& parts) {
    return FissionWriter(context, parts).edits();
}

} // namespace kernelskill::skills
