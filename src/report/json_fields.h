// The members of every object of a report: one table per type, used by both
// the writer and the reader, so that neither can know a member that the other
// does not. The rows are in the order of the contract, which is the order of
// the file.
//
//   template <> inline constexpr auto kObject<Count> =
//       object(Layout::line, &Count::extra, required("blocks", &Count::blocks), ...);
//
// A row is a name and a way to get at the member: a pointer to member, or a
// function from the struct to a reference where the file's shape is not the
// struct's. A group is an object of the file that has no struct of its own.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "core/report.h"

namespace plumb::json {

enum class Layout { block, line };  // one member per line, or all on one line

enum class Presence {
  optional,  // left out when it says nothing: empty, absent, false
  always,    // written always; may be missing in what is read
  required,  // written always; an error when missing
};

// A value that is written otherwise than its type says, or checked further.
enum class Form { plain, schema, fraction, fingerprint };

template <Presence P, Form F, typename Get>
struct Row {
  static constexpr Presence kPresence = P;
  static constexpr Form kForm = F;
  std::string_view name;
  Get get;
};

template <typename GetExtra, typename... Rows>
struct Object {
  Layout layout;
  GetExtra extra;
  std::tuple<Rows...> rows;
};

template <Presence P, typename Described>
struct Group {
  static constexpr Presence kPresence = P;
  std::string_view name;
  Described object;
};

template <Form F = Form::plain, typename Get>
constexpr Row<Presence::optional, F, Get> optional(std::string_view name, Get get) {
  return {name, get};
}
template <Form F = Form::plain, typename Get>
constexpr Row<Presence::always, F, Get> always(std::string_view name, Get get) {
  return {name, get};
}
template <Form F = Form::plain, typename Get>
constexpr Row<Presence::required, F, Get> required(std::string_view name, Get get) {
  return {name, get};
}
template <typename GetExtra, typename... Rows>
constexpr Object<GetExtra, Rows...> object(Layout layout, GetExtra extra, Rows... rows) {
  return {layout, extra, std::tuple<Rows...>(rows...)};
}
template <Presence P, typename Described>
constexpr Group<P, Described> group(std::string_view name, Described described) {
  return {name, described};
}

template <typename T>
inline constexpr auto kObject = nullptr;  // specialised for each struct below

template <>
inline constexpr auto kObject<Frame> = object(Layout::line, &Frame::extra,             //
                                              optional("function", &Frame::function),  //
                                              optional("linkage", &Frame::linkage),    //
                                              optional("file", &Frame::file),          //
                                              optional("line", &Frame::line),          //
                                              optional("column", &Frame::column),      //
                                              optional("functionLine", &Frame::function_line),
                                              optional("inlined", &Frame::inlined),  //
                                              optional("module", &Frame::module),    //
                                              optional("offset", &Frame::offset));

template <>
inline constexpr auto kObject<Count> = object(Layout::line, &Count::extra,         //
                                              required("blocks", &Count::blocks),  //
                                              required("bytes", &Count::bytes));

template <>
inline constexpr auto kObject<SizeRange> = object(Layout::line, &SizeRange::extra,   //
                                                  required("min", &SizeRange::min),  //
                                                  required("max", &SizeRange::max));

template <>
inline constexpr auto kObject<Allocation> = object(Layout::block, &Allocation::extra,      //
                                                   optional("stack", &Allocation::stack),  //
                                                   optional("api", &Allocation::api));

template <>
inline constexpr auto kObject<Holder> = object(Layout::line, &Holder::extra,           //
                                               optional("name", &Holder::name),        //
                                               optional("type", &Holder::type),        //
                                               optional("storage", &Holder::storage),  //
                                               optional("chain", &Holder::chain));

template <>
inline constexpr auto kObject<Loss> = object(Layout::block, &Loss::extra,      //
                                             optional("cause", &Loss::cause),  //
                                             optional("stack", &Loss::stack),  //
                                             optional("holder", &Loss::holder));

template <>
inline constexpr auto kObject<LastUse> = object(Layout::block, &LastUse::extra,      //
                                                optional("stack", &LastUse::stack),  //
                                                optional("what", &LastUse::what),    //
                                                optional("burst", &LastUse::burst));

template <>
inline constexpr auto kObject<SiblingFree> = object(Layout::block, &SiblingFree::extra,      //
                                                    optional("stack", &SiblingFree::stack),  //
                                                    required("blocks", &SiblingFree::blocks));

template <>
inline constexpr auto kObject<Step> = object(Layout::line, &Step::extra,               //
                                             optional("location", &Step::location),    //
                                             optional("event", &Step::event),          //
                                             optional("text", &Step::text),            //
                                             optional("branch", &Step::branch),        //
                                             optional("condition", &Step::condition),  //
                                             optional("call", &Step::call));

template <>
inline constexpr auto kObject<SummaryNode> = object(Layout::line, &SummaryNode::extra,       //
                                                    required("id", &SummaryNode::id),        //
                                                    optional("label", &SummaryNode::label),  //
                                                    optional("state", &SummaryNode::state));

template <>
inline constexpr auto kObject<SummaryEdge> = object(Layout::line, &SummaryEdge::extra,       //
                                                    required("from", &SummaryEdge::from),    //
                                                    required("to", &SummaryEdge::to),        //
                                                    optional("label", &SummaryEdge::label),  //
                                                    optional("before", &SummaryEdge::before));

template <>
inline constexpr auto kObject<Summary> = object(Layout::block, &Summary::extra,            //
                                                required("function", &Summary::function),  //
                                                optional("text", &Summary::text),          //
                                                optional("nodes", &Summary::nodes),        //
                                                optional("edges", &Summary::edges));

template <>
inline constexpr auto kObject<Age> = object(Layout::block, &Age::extra,               //
                                            optional("unit", &Age::unit),             //
                                            optional("verdict", &Age::verdict),       //
                                            optional("samples", &Age::samples),       //
                                            optional("bytesLow", &Age::bytes_low),    //
                                            optional("bytesHigh", &Age::bytes_high),  //
                                            optional("first", &Age::first),           //
                                            optional("last", &Age::last),             //
                                            optional("active", &Age::active),         //
                                            optional("idle", &Age::idle),             //
                                            optional("drag", &Age::drag),             //
                                            optional("growth", &Age::growth),         //
                                            optional("histogram", &Age::histogram),   //
                                            optional("missedChance", &Age::missed_chance));

template <>
inline constexpr auto kObject<Fix> = object(Layout::block, &Fix::extra,      //
                                            optional("place", &Fix::place),  //
                                            required("text", &Fix::text));

template <>
inline constexpr auto kObject<Suppressed> = object(Layout::line, &Suppressed::extra,  //
                                                   required("by", &Suppressed::by),   //
                                                   optional("reason", &Suppressed::reason));

template <>
inline constexpr auto kObject<Leak> =
    object(Layout::block, &Leak::extra,                              //
           required<Form::fingerprint>("id", &Leak::id),             //
           required("kind", &Leak::kind),                            //
           always<Form::fraction>("confidence", &Leak::confidence),  //
           always("resource", &Leak::resource),                      //
           optional("when", &Leak::when),                            //
           required("bytes", [](auto& leak) -> auto& { return leak.direct.bytes; }),
           required("blocks", [](auto& leak) -> auto& { return leak.direct.blocks; }),
           // Bytes first, as in the leak itself; the counts of the totals have the
           // blocks first.
           group<Presence::always>(
               "indirect",
               object(
                   Layout::line, [](auto& leak) -> auto& { return leak.indirect.extra; },
                   required("bytes", [](auto& leak) -> auto& { return leak.indirect.bytes; }),
                   required("blocks", [](auto& leak) -> auto& { return leak.indirect.blocks; }))),
           optional("sizes", &Leak::sizes),            //
           required("allocation", &Leak::allocation),  //
           optional("loss", &Leak::loss),              //
           optional("lastUse", &Leak::last_use),       //
           optional("window", &Leak::window),          //
           optional("frees", &Leak::frees),            //
           optional("holders", &Leak::holders),        //
           optional("path", &Leak::path),              //
           optional("summaries", &Leak::summaries),    //
           optional("age", &Leak::age),                //
           optional("fix", &Leak::fix),                //
           optional("suppressed", &Leak::suppressed),  //
           optional("known", &Leak::known));

template <>
inline constexpr auto kObject<Tool> = object(Layout::line, &Tool::extra,           //
                                             required("name", &Tool::name),        //
                                             optional("version", &Tool::version),  //
                                             required("engine", &Tool::engine),    //
                                             optional("mode", &Tool::mode));

template <>
inline constexpr auto kObject<Status> = object(Layout::line, &Status::extra,     //
                                               optional("code", &Status::code),  //
                                               optional("signal", &Status::signal));

template <>
inline constexpr auto kObject<Subject> = object(Layout::block, &Subject::extra,            //
                                                optional("command", &Subject::command),    //
                                                optional("cwd", &Subject::cwd),            //
                                                optional("pid", &Subject::pid),            //
                                                optional("started", &Subject::started),    //
                                                optional("duration", &Subject::duration),  //
                                                optional("status", &Subject::status),      //
                                                optional("host", &Subject::host),          //
                                                optional("units", &Subject::units),        //
                                                optional("flags", &Subject::flags));

template <>
inline constexpr auto kObject<Module> = object(Layout::line, &Module::extra,            //
                                               optional("path", &Module::path),         //
                                               optional("buildId", &Module::build_id),  //
                                               optional("debug", &Module::debug));

template <>
inline constexpr auto kObject<Stage> = object(Layout::line, &Stage::extra,     //
                                              required("name", &Stage::name),  //
                                              required("in", &Stage::in),      //
                                              required("out", &Stage::out));

template <>
inline constexpr auto kObject<Totals> = object(
    Layout::block, &Totals::extra,                                                          //
    always("allocated", &Totals::allocated),                                                //
    always("freed", &Totals::freed),                                                        //
    always("lost", &Totals::lost),                                                          //
    always("stale", &Totals::stale),                                                        //
    always("forgotten", &Totals::forgotten),                                                //
    always("excluded", &Totals::excluded),                                                  //
    always("suppressed", &Totals::suppressed),                                              //
    always("known", &Totals::known),                                                        //
    group<Presence::optional>("omitted", object(Layout::block, &Totals::omitted_extra,      //
                                                optional("lost", &Totals::omitted_lost),    //
                                                optional("stale", &Totals::omitted_stale),  //
                                                optional("forgotten", &Totals::omitted_forgotten))),
    optional("functions", &Totals::functions),  //
    optional("units", &Totals::units),          //
    optional("stages", &Totals::stages),        //
    optional("undecided", &Totals::undecided),  //
    optional("skippedUnits", &Totals::skipped_units));

template <>
inline constexpr auto kObject<Note> = object(Layout::line, &Note::extra,     //
                                             optional("code", &Note::code),  //
                                             required("text", &Note::text),  //
                                             optional("remedy", &Note::remedy));

template <>
inline constexpr auto kObject<Sample> = object(Layout::line, &Sample::extra,                  //
                                               required("time", &Sample::time),               //
                                               required("heapBytes", &Sample::heap_bytes),    //
                                               required("liveBlocks", &Sample::live_blocks),  //
                                               optional("staleBytes", &Sample::stale_bytes));

template <>
inline constexpr auto kObject<Report> =
    object(Layout::block, &Report::extra,                            //
           required<Form::schema>("schema", &Report::schema_minor),  //
           required("tool", &Report::tool),                          //
           always("subject", &Report::subject),                      //
           always("modules", &Report::modules),                      //
           required("totals", &Report::totals),                      //
           required("leaks", &Report::leaks),                        //
           always("notes", &Report::notes),                          //
           optional("series", &Report::series));

// A struct of the model, as opposed to a plain value.
template <typename T>
inline constexpr bool kIsObject = !std::is_same_v<decltype(kObject<T>), const std::nullptr_t>;

}  // namespace plumb::json
