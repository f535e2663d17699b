#include "skills/aos-staging/staging_writer.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/value_spelling.h"
#include "skills/aos-staging/launched_memory.h"
#include "skills/editing/condition_text.h"
#include "skills/editing/fresh_names.h"
#include "skills/editing/operand_text.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

using Lines = std::vector<std::string>;

class StagingWriter {
public:
    StagingWriter(const SkillContext& context, const Staging& staging)
        : context_(context), staging_(staging), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), draft_(context), fresh_(body_) {}

    std::vector<TextEdit> write() {
        word_ = fresh_.add("word");
        Lines loads;
        for (const RecordArray& array : staging_.records.arrays)
            nameOf(array);
        for (const RecordArray& array : staging_.records.arrays)
            loads.push_back(declaration(array));
        conditionOf({});
        for (const RecordArray& array : staging_.records.arrays)
            firstOf(array.number);
        loads.insert(loads.end(), firsts_.begin(), firsts_.end());
        const std::size_t copies = loads.size();
        addCopies(loads, true);
        if (loads.size() > copies)
            loads.emplace_back("__syncthreads();");
        for (const RecordArray& array : staging_.records.arrays)
            if (array.isClass)
                loads.push_back(reference(array));
        draft_.before(staging_.begin, loads);
        for (const RecordArray& array : staging_.records.arrays)
            for (const RecordPlace& place : array.places)
                draft_.replace(body_.expr(place.expression).span, text(array, place));
        if (staging_.end != noId)
            addStores();
        std::vector<TextEdit> edits = draft_.edits();
        if (isLaunched()) {
            const RecordArray& array = staging_.records.arrays.front();
            const std::vector<TextEdit> stated =
                statedMemory(context_, array.pitch(), wordType(array));
            edits.insert(edits.end(), stated.begin(), stated.end());
        }
        return edits;
    }

private:
    struct Names {
        std::string words;
        std::string record;
    };

    const Names& nameOf(const RecordArray& array) {
        const auto [entry, isNew] = names_.try_emplace(array.variable);
        if (isNew) {
            const std::string& name = body_.variable(array.variable).name;
            entry->second.words = fresh_.add(name + (array.isClass ? "Words" : "Tile"));
            if (array.isClass)
                entry->second.record = fresh_.add(recordName(name));
        }
        return entry->second;
    }

    /// Returns "body" for "bodies", and "gridRecord" for "grid" or where the singular is taken.
    [[nodiscard]] std::string recordName(const std::string& name) const {
        std::string singular;
        if (name.size() > 4 && name.ends_with("ies"))
            singular = name.substr(0, name.size() - 3) + "y";
        else if (name.size() > 2 && name.ends_with('s') && !name.ends_with("ss"))
            singular = name.substr(0, name.size() - 1);
        return singular.empty() || !isNameFree(body_, singular) ? name + "Record" : singular;
    }

    [[nodiscard]] bool isLaunched() const { return staging_.block[0] == 0; }
    /// The threads of a row of the block.
    [[nodiscard]] std::string width() const {
        return isLaunched() ? "blockDim.x" : std::to_string(staging_.block[0]);
    }
    [[nodiscard]] bool hasRows() const { return staging_.block[1] > 1; }

    [[nodiscard]] static std::string wordType(const RecordArray& array) {
        if (!array.isClass)
            return array.element;
        return array.wordBytes == 4 ? "int" : array.wordBytes == 8 ? "long long" : "int4";
    }

    std::string declaration(const RecordArray& array) {
        if (isLaunched())
            return fmt::format("extern __shared__ {} {}[];", wordType(array), nameOf(array).words);
        return fmt::format("__shared__ {} {}{}[{} * {}];", wordType(array), nameOf(array).words,
                           hasRows() ? fmt::format("[{}]", staging_.block[1]) : "", array.pitch(),
                           width());
    }

    /// The words of the thread's row of the block.
    std::string row(const RecordArray& array) {
        return nameOf(array).words + (hasRows() ? "[threadIdx.y]" : "");
    }

    std::string reference(const RecordArray& array) {
        return fmt::format("{0}{1}& {2} = reinterpret_cast<{0}{1}&>({3}[{4} * threadIdx.x]);",
                           array.isConst ? "const " : "", array.element, nameOf(array).record,
                           row(array), array.pitch());
    }

    /// Returns the name of the position that the row's first thread has where this one has
    /// `position`, and declares it once.
    std::string firstOf(VariableId position) {
        const auto [entry, isNew] = firstNames_.try_emplace(position);
        if (!isNew)
            return entry->second;
        if (position == noId) {
            entry->second = fresh_.add("first");
            firsts_.push_back(
                fmt::format("const unsigned int {} = blockIdx.x * blockDim.x;", entry->second));
            return entry->second;
        }
        const Variable& variable = body_.variable(position);
        entry->second = fresh_.add("first" + (positions() > 1 ? capitalised(variable.name) : ""));
        const std::string type = valueSpelling(variable.type);
        const bool isFlat = !type.contains("auto") && variable.type.size <= 4 &&
                            polynomialOf(code_, variable.init) == flatThreadIndex();
        firsts_.push_back(fmt::format("const {} {} = {};", type, entry->second,
                                      isFlat ? "blockIdx.x * blockDim.x"
                                             : numberText(position) + " - threadIdx.x"));
        return entry->second;
    }
    /// The variable's name, or its initialiser where it is declared behind the loads.
    [[nodiscard]] std::string numberText(VariableId position) const {
        const Variable& variable = body_.variable(position);
        const Span declaration = body_.stmt(code_.declarationOf(position)).span;
        return declaration.end <= body_.stmt(staging_.begin).span.begin
                   ? variable.name
                   : besideComparison(source_, body_.expr(variable.init));
    }
    [[nodiscard]] std::size_t positions() const {
        std::set<VariableId> all;
        for (const RecordBound& bound : staging_.records.guard.bounds)
            all.insert(bound.position);
        for (const RecordArray& array : staging_.records.arrays)
            all.insert(array.number);
        return all.size();
    }
    static std::string capitalised(std::string name) {
        if (!name.empty() && name.front() >= 'a' && name.front() <= 'z')
            name.front() = static_cast<char>(name.front() - 'a' + 'A');
        return name;
    }

    /// The condition that a record exists `record` places behind that of the row's first thread.
    std::string conditionOf(const std::string& record) {
        Lines parts;
        for (const RecordBound& bound : staging_.records.guard.bounds)
            parts.push_back(fmt::format("{} + {} < {}", firstOf(bound.position), record,
                                        besideComparison(source_, body_.expr(bound.limit))));
        for (const RowClause& clause : staging_.records.guard.clauses)
            parts.push_back(clause.text);
        return fmt::format("{}", fmt::join(parts, " && "));
    }

    /// Adds a loop for each array that is loaded, or stored.
    void addCopies(Lines& lines, bool isLoad) {
        for (const RecordArray& array : staging_.records.arrays) {
            if (isLoad ? !array.isRead : !array.isWritten)
                continue;
            Lines copy{isLoad ? fmt::format("{} = {};", inTile(array), inMemory(array, true))
                              : fmt::format("{} = {};", inMemory(array, false), inTile(array))};
            const std::string condition = conditionOf(fmt::format("{} / {}", word_, array.words));
            if (!condition.empty())
                copy = draft_.controlled(fmt::format("if ({})", condition), copy);
            for (std::string& line : copy)
                line.insert(0, draft_.layout().unit());
            lines.push_back(fmt::format("for (int {0} = threadIdx.x; {0} < {1} * {2}; {0} += {2})",
                                        word_, array.words, width()));
            lines.insert(lines.end(), copy.begin(), copy.end());
        }
    }

    std::string inTile(const RecordArray& array) {
        if (array.pitch() == array.words)
            return fmt::format("{}[{}]", row(array), word_);
        return fmt::format("{0}[{1} / {2} * {3} + {1} % {2}]", row(array), word_, array.words,
                           array.pitch());
    }

    std::string inMemory(const RecordArray& array, bool isLoad) {
        const std::string& name = body_.variable(array.variable).name;
        const std::string first = firstOf(array.number);
        if (array.isClass)
            return fmt::format("reinterpret_cast<{}{}*>({} + {})[{}]",
                               isLoad || array.isConst ? "const " : "", wordType(array), name,
                               first, word_);
        return fmt::format("{}[{}{} * {} + {}]", name, array.words, hasWideIndex(array) ? "LL" : "",
                           first, word_);
    }
    /// Whether the text counts elements in 64 bits, and records in 32.
    [[nodiscard]] bool hasWideIndex(const RecordArray& array) const {
        if (array.number != noId && body_.variable(array.number).type.size > 4)
            return false;
        return std::ranges::any_of(array.places, [&](const RecordPlace& place) {
            return std::ranges::any_of(code_.expressionsBelow(place.expression), [&](ExprId id) {
                const Expr& expr = body_.expr(id);
                return isIndexType(expr.type) && expr.type.size > 4 &&
                       expr.kind != ExprKind::Integer;
            });
        });
    }

    std::string text(const RecordArray& array, const RecordPlace& place) {
        if (array.isClass)
            return (place.isAddress ? "&" : "") + nameOf(array).record;
        std::string index = fmt::format("{} * threadIdx.x", array.pitch());
        std::int64_t constant = 0;
        for (const auto& [monomial, factor] : place.offset.terms()) {
            if (monomial.empty()) {
                constant = factor;
                continue;
            }
            const std::string& counter = body_.variable(monomial.front().id).name;
            const std::int64_t times = factor < 0 ? -factor : factor;
            index += factor < 0 ? " - " : " + ";
            index += times == 1 ? counter : fmt::format("{} * {}", times, counter);
        }
        if (constant != 0)
            index += fmt::format(" {} {}", constant < 0 ? '-' : '+', std::abs(constant));
        return place.isAddress ? fmt::format("{} + {}", row(array), index)
                               : fmt::format("{}[{}]", row(array), index);
    }

    /// Adds the stores of all threads' records, behind what works on them.
    void addStores() {
        Lines stores{"__syncthreads();"};
        addCopies(stores, false);
        const std::vector<StmtId>& exits = staging_.records.guard.exits;
        if (exits.empty()) {
            draft_.after(staging_.end, stores);
            return;
        }
        // Threads without a record come to the barrier, too: the exit becomes a check of the rest.
        const Stmt& exit = body_.stmt(exits.front());
        const SourceLayout& layout = draft_.layout();
        draft_.replace(exit.span,
                       fmt::format("if ({}) {{", negated(context_, code_, exit.condition)));
        draft_.indent({exit.span.end, body_.stmt(staging_.end).span.end});
        stores.insert(stores.begin(), "}");
        const std::string indentation = layout.indentation(exit.span.begin);
        std::string text;
        for (const std::string& line : stores)
            text += indentation + line + layout.newline();
        draft_.insertAfter(staging_.end, text);
    }

    const SkillContext& context_;
    const Staging& staging_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    Draft draft_;
    std::string word_;
    std::map<VariableId, Names> names_;
    std::map<VariableId, std::string> firstNames_;
    Lines firsts_; ///< The declarations of `firstNames_`.
    FreshNames fresh_;
};

} // namespace

std::vector<TextEdit> stagingEdits(const SkillContext& context, const Staging& staging) {
    return StagingWriter(context, staging).write();
}

} // namespace kernelskill::skills
