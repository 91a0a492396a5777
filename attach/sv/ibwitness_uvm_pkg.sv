// ibwitness in a UVM environment: monitors of AXI4-Stream ports, and a subscriber of their frames that tells what is wrong by `uvm_error, whose id is the rule. What is
// to be waived is waived by the usual means:
//
//   env.ibwitness.set_report_severity_id_override(UVM_ERROR, "RC-TMO-002", UVM_INFO);
//
// or a uvm_report_catcher. Compile uvm_pkg and ibwitness_pkg before it.
package ibwitness_uvm_pkg;
  import uvm_pkg::*;
  import ibwitness_pkg::*;
  `include "uvm_macros.svh"

  typedef enum int { IBW_WHOLE, IBW_GIVEN_UP, IBW_RESET } ibwitness_kind_e;

  // A frame that a port carried, from the first byte after the preamble to the last before the frame check sequence; or a reset of the device at the port.
  class ibwitness_frame extends uvm_sequence_item;
    ibwitness_kind_e kind;
    string tap; // its name in the configuration
    int way; // ibw_way_e
    longint unsigned ps; // of its last beat
    byte unsigned data[$];

    `uvm_object_utils(ibwitness_frame)

    function new(string name = "ibwitness_frame");
      super.new(name);
    endfunction

    virtual function string convert2string();
      return $sformatf("%s %s of %0d bytes at %0d ps", tap, kind.name(), data.size(), ps);
    endfunction
  endclass

  // A finding, or what has become of one; ibwitness.h says what is in it.
  class ibwitness_finding extends uvm_object;
    int unsigned id;
    int tone, change, cls, severity, waived;
    int unsigned tap;
    longint unsigned frame, ps;
    string rule, accused, peer, expected, actual, detail, text;

    `uvm_object_utils(ibwitness_finding)

    function new(string name = "ibwitness_finding");
      super.new(name);
    endfunction

    virtual function string convert2string();
      return text;
    endfunction
  endclass

  // Watches a port, and drives nothing. From the configuration database it takes "vif", and, where they are there, "tap", "way" and "big_endian".
  class ibwitness_monitor #(int W = 64) extends uvm_monitor;
    virtual ibwitness_axis_if #(W) vif;
    uvm_analysis_port #(ibwitness_frame) ap;
    string tap = "port";
    int way = IBW_UNKNOWN;
    bit big_endian = 0; // the first byte of a frame is in tdata[W-1:W-8]

    `uvm_component_param_utils(ibwitness_monitor #(W))

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    virtual function void build_phase(uvm_phase phase);
      super.build_phase(phase);
      ap = new("ap", this);
      if (!uvm_config_db#(virtual ibwitness_axis_if #(W))::get(this, "", "vif", vif))
        `uvm_fatal("IBWITNESS", "no virtual interface: set \"vif\" in uvm_config_db")
      void'(uvm_config_db#(string)::get(this, "", "tap", tap));
      void'(uvm_config_db#(int)::get(this, "", "way", way));
      void'(uvm_config_db#(bit)::get(this, "", "big_endian", big_endian));
    endfunction

    function ibwitness_frame begun(ibwitness_kind_e kind);
      ibwitness_frame f = ibwitness_frame::type_id::create("frame");
      f.kind = kind;
      f.tap = tap;
      f.way = way;
      return f;
    endfunction

    function void ended(ibwitness_frame f);
      f.ps = ibw_now();
      ap.write(f);
    endfunction

    virtual task run_phase(uvm_phase phase);
      ibwitness_frame f = begun(IBW_WHOLE);
      bit running = 0;
      forever begin
        @(vif.cb);
        if (vif.cb.aresetn !== 1'b1) begin
          if (running) ended(begun(IBW_RESET));
          f = begun(IBW_WHOLE);
          running = 0;
          continue;
        end
        running = 1;
        if (vif.cb.tvalid !== 1'b1 || vif.cb.tready !== 1'b1) continue;
        for (int i = 0; i < W / 8; i++) begin
          int lane = big_endian ? W / 8 - 1 - i : i;
          if (vif.cb.tkeep[lane] === 1'b1) f.data.push_back(vif.cb.tdata[8*lane +: 8]);
        end
        if (vif.cb.tuser === 1'b1) f.kind = IBW_GIVEN_UP;
        if (vif.cb.tlast === 1'b1) begin
          ended(f);
          f = begun(IBW_WHOLE);
        end
      end
    endtask
  endclass

  // Judges the frames of any number of monitors, which are its run, and tells what is wrong at the time of the frame that shows it. From the configuration database it takes,
  // where they are there, "run" (its name) and "settings" (JSON, or the name of a file with it).
  class ibwitness_subscriber extends uvm_subscriber #(ibwitness_frame);
    uvm_analysis_port #(ibwitness_finding) found;
    string name_of_run = "";
    string settings = "";
    int run; // for the functions of ibwitness_pkg, each followed by tell
    int unsigned frames, errors, warnings;
    protected int taps[string];
    protected event came; // a verbs event, which is compared with the packets at the next call of a later time

    `uvm_component_utils(ibwitness_subscriber)

    function new(string name, uvm_component parent);
      super.new(name, parent);
    endfunction

    virtual function void build_phase(uvm_phase phase);
      super.build_phase(phase);
      found = new("found", this);
      void'(uvm_config_db#(string)::get(this, "", "run", name_of_run));
      void'(uvm_config_db#(string)::get(this, "", "settings", settings));
      void'($value$plusargs("ibwitness_config=%s", settings));
      run = ibw_sv_open(name_of_run, settings);
      if (run == 0) `uvm_fatal("IBWITNESS", ibw_sv_message(0))
    endfunction

    // The number of a tap by its name.
    function int tap(string name);
      if (taps.exists(name) == 0) begin
        taps[name] = ibw_sv_tap(run, name);
        if (taps[name] < 0) `uvm_fatal("IBWITNESS", ibw_sv_message(run))
      end
      return taps[name];
    endfunction

    virtual function void write(ibwitness_frame t);
      int n = 0;
      int at = tap(t.tap);
      if (t.kind == IBW_RESET) begin
        tell(ibw_sv_reset(run, at, t.ps));
        return;
      end
      frames++;
      for (int i = 0; n >= 0 && (i == 0 || i < t.data.size()); i += 64) begin
        bit [511:0] lanes = '0;
        longint unsigned keep = 0;
        int flags = t.kind == IBW_GIVEN_UP ? IBW_BAD : 0;
        for (int j = 0; j < 64 && i + j < t.data.size(); j++) begin
          lanes[8*j +: 8] = t.data[i+j];
          keep[j] = 1;
        end
        if (i + 64 >= t.data.size()) flags |= IBW_LAST;
        n = ibw_sv_beat64(run, at, t.way, t.ps, lanes, keep, flags);
      end
      tell(n);
    endfunction

    // A verbs event of an HCA, by its name in the configuration: a line of docs/events.md.
    function void verbs(string hca, string json);
      int n = ibw_sv_hca(run, hca);
      if (n >= 0) n = ibw_sv_event(run, n, ibw_now(), json);
      tell(n);
      ->came;
    endfunction

    // Tells what a call has found, and what was wrong with it, of which n is the result.
    virtual function void tell(int n);
      if (n < 0) `uvm_error("IBWITNESS", ibw_sv_message(run))
      while (ibw_sv_next(run) == 1) begin
        ibwitness_finding f = ibwitness_finding::type_id::create("finding");
        f.id = ibw_sv_finding_id(run);
        f.tone = ibw_sv_finding_tone(run);
        f.change = ibw_sv_finding_change(run);
        f.cls = ibw_sv_finding_cls(run);
        f.severity = ibw_sv_finding_severity(run);
        f.waived = ibw_sv_finding_waived(run);
        f.tap = ibw_sv_finding_tap(run);
        f.frame = ibw_sv_finding_frame(run);
        f.ps = ibw_sv_finding_time(run);
        f.rule = ibw_sv_finding_rule(run);
        f.accused = ibw_sv_finding_accused(run);
        f.peer = ibw_sv_finding_peer(run);
        f.expected = ibw_sv_finding_expected(run);
        f.actual = ibw_sv_finding_actual(run);
        f.detail = ibw_sv_finding_detail(run);
        f.text = ibw_sv_finding_text(run);
        found.write(f);
        case (f.tone)
          IBW_FAIL: begin
            errors++;
            `uvm_error(f.rule, f.text)
          end
          IBW_WARN: begin
            warnings++;
            `uvm_warning(f.rule, f.text)
          end
          default: `uvm_info(f.rule, f.text, UVM_LOW)
        endcase
      end
    endfunction

    // What is due and missing is told, though no frame comes.
    virtual task run_phase(uvm_phase phase);
      fork
        forever begin
          #1us;
          tell(ibw_sv_advance(run, ibw_now()));
        end
        forever begin
          @came;
          #1ns;
          tell(ibw_sv_advance(run, ibw_now()));
        end
      join
    endtask

    virtual function void check_phase(uvm_phase phase);
      super.check_phase(phase);
      tell(ibw_sv_end(run, ibw_now()));
      if (ibw_sv_outstanding(run) > 0)
        `uvm_error("IBW-OUTSTANDING", ibw_sv_outstanding_text(run))
      for (string doubt = ibw_sv_doubt(run); doubt != ""; doubt = ibw_sv_doubt(run)) `uvm_warning("IBWITNESS", doubt)
    endfunction

    // The simulation ends at an error, as after +UVM_MAX_QUIT_COUNT: what is not done by now is no fault.
    virtual function void pre_abort();
      super.pre_abort();
      ibw_sv_lenient(run);
    endfunction

    virtual function void report_phase(uvm_phase phase);
      super.report_phase(phase);
      `uvm_info("IBWITNESS", $sformatf("%0d frames, %0d errors, %0d warnings", frames, errors, warnings), UVM_LOW)
    endfunction

`ifdef VERILATOR
    // An error that nothing waives makes the exit status 1.
    virtual function void final_phase(uvm_phase phase);
      uvm_report_server server = uvm_report_server::get_server();
      super.final_phase(phase);
      if (server.get_severity_count(UVM_ERROR) + server.get_severity_count(UVM_FATAL) > 0) ibw_sv_fail();
    endfunction
`endif
  endclass

endpackage
