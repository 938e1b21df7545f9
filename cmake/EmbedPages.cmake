# Turns the pages of a folder into one C++ source, so that the text a page has
# and the text the program prints are one copy. Run as a script:
#
#   cmake -DPAGES=a.md;b.md -DOUTPUT=pages.cc -DTEMPLATE=pages.cc.in -P EmbedPages.cmake
#
# The template's @ENTRIES@ becomes one line per page: {"word", R"(text)"}, in
# the order of the file names. Each page is a raw string literal of its own;
# one that contains the closing delimiter is refused instead of cut short.

set(delimiter plumb_page)
set(ENTRIES "")
foreach(page IN LISTS PAGES)
  get_filename_component(word ${page} NAME_WE)
  file(READ ${page} text)
  string(FIND "${text}" ")${delimiter}\"" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${page} contains )${delimiter}\"")
  endif()
  string(LENGTH "${text}" length)
  if(length GREATER 60000)
    message(FATAL_ERROR "${page} is longer than a string literal may be")
  endif()
  string(APPEND ENTRIES "    {\"${word}\", R\"${delimiter}(${text})${delimiter}\"},\n")
endforeach()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
